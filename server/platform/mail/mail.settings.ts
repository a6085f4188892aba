import { declareSettings, secret, text } from '../config/index.ts';
import { parseAddresses } from './mail-address.ts';

const SCHEMES = ['smtp:', 'smtps:'];

/** Throws when the text is no SMTP URL; never repeats it, since it may hold a password. */
function checkUrl(value: string): void {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (parsed && SCHEMES.includes(parsed.protocol) && parsed.hostname !== '') return;
  throw new Error('must be a URL that starts with smtp:// or smtps://');
}

const sender = text({
  default: 'Tessera <tessera@localhost>',
  doc: 'Sender of every mail, such as Reports <reports@mail.example>.',
});

export const mailSettings = declareSettings('Mail', {
  SMTP_URL: secret({
    doc: 'Server that sends mail, such as smtps://user:password@mail.example. Without it, steps that send mail fail with a message that says so.',
    check: checkUrl,
  }),
  SMTP_FROM: {
    ...sender,
    parse: (raw: string | undefined) => {
      const given = sender.parse(raw);
      if (parseAddresses(given).length !== 1) throw new Error('must be one address');
      return given;
    },
  },
});
