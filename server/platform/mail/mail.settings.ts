import { declareSettings, secret, text } from '../config/index.ts';

export const mailSettings = declareSettings('Mail', {
  SMTP_URL: secret({
    doc: 'Server that sends mail, such as smtps://user:password@mail.example.com. Without it, steps that send mail fail with a message that says so.',
    defaultText: 'none',
    check: (value) => {
      if (!/^smtps?:\/\//.test(value) || !URL.canParse(value))
        throw new Error('must be an smtp:// or smtps:// address');
    },
  }),
  SMTP_FROM: text({ default: 'Tessera <tessera@localhost>', doc: 'Sender of every mail.' }),
});
