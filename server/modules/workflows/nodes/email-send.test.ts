import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { SMTPServer, type SMTPServerEnvelope } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Secret } from '../../../platform/config/index.ts';
import { createMailer, type Mailer } from '../../../platform/mail/index.ts';
import { createEmailSend } from './email-send.ts';
import { fakeStep, stepFailure } from './fake-step.ts';

interface Received {
  from: string;
  to: string[];
  source: string;
}

const CONFIG = { to: 'ann@x.example', subject: 'Report', body: 'All is well.' };
const HEADERS = new Set([
  'Auto-Submitted',
  'Content-Transfer-Encoding',
  'Content-Type',
  'Date',
  'From',
  'MIME-Version',
  'Message-ID',
  'Subject',
  'To',
]);
let smtp: SMTPServer;
let received: Received[];
let mailer: Mailer | undefined;

/** Safe because the servers here listen on TCP. */
function portOf(server: Server): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return (server.address() as AddressInfo).port;
}

function openMailer(port: number, timeoutMs?: number): Mailer | undefined {
  const settings = { SMTP_URL: new Secret(`smtp://127.0.0.1:${port}`), SMTP_FROM: 'Tessera <reports@mail.example>' };
  return createMailer(settings, timeoutMs === undefined ? {} : { timeoutMs });
}

async function keep(stream: Readable, envelope: SMTPServerEnvelope, done: () => void): Promise<void> {
  const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  received.push({ from, to: envelope.rcptTo.map(({ address }) => address), source: await text(stream) });
  done();
}

beforeEach(async () => {
  received = [];
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('refused') ? new Error(`no mailbox here by that name ${'!'.repeat(600)}`) : null),
    onData: (stream, { envelope }, done) => void keep(stream, envelope, done),
  });
  const listening = smtp.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  mailer = openMailer(portOf(smtp.server));
});

afterEach(async () => {
  mailer?.close();
  await new Promise<void>((resolve) => smtp.close(resolve));
});

const send = (config: Record<string, unknown>, step = fakeStep()): Promise<unknown> =>
  createEmailSend(mailer)({ ...CONFIG, ...config }, step);

/** The lines of the head of a message, folded ones joined. */
function headOf({ source }: Received): string[] {
  const [head = ''] = source.split('\r\n\r\n', 1);
  return head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
}

test('a mail arrives', async () => {
  const result = await send({
    to: 'Ann <ann@x.example>, bob@x.example',
    cc: ['"Doe, Cy" <cy@x.example>'],
    bcc: 'dee@x.example',
    replyTo: 'team@x.example',
    html: '<p>All is well.</p>',
  });
  const accepted = ['ann@x.example', 'bob@x.example', 'cy@x.example', 'dee@x.example'];
  expect(result).toEqual({ messageId: expect.stringMatching(/^<[0-9a-f]{40}@mail\.example>$/), accepted });
  expect(received).toMatchObject([{ from: 'reports@mail.example', to: accepted }]);
  const [mail] = received;
  if (!mail) throw new Error('no mail arrived');
  expect(headOf(mail)).toEqual(
    expect.arrayContaining([
      'From: Tessera <reports@mail.example>',
      'To: Ann <ann@x.example>, bob@x.example',
      'Cc: "Doe, Cy" <cy@x.example>',
      'Reply-To: team@x.example',
      'Subject: Report',
      'Auto-Submitted: auto-generated',
    ]),
  );
  expect(mail.source).not.toContain('dee@x.example');
  expect(mail.source).toContain('<p>All is well.</p>');
});

test('the Message-ID is the same for the same attempt and no other', async () => {
  const ids = [];
  for (const attemptId of ['run_1:问:1', 'run_1:问:1', 'run_1:问:2']) ids.push(await send({}, fakeStep({ attemptId })));
  expect(ids[0]).toEqual(ids[1]);
  expect(ids[0]).not.toEqual(ids[2]);
});

describe('no field begins a header or reads a file', () => {
  test('a subject of several lines is one line', async () => {
    await send({ subject: 'Report\r\nBcc: victim@x.example\r\n\r\nBody\u2028' });
    expect(received).toMatchObject([{ to: ['ann@x.example'] }]);
    expect(received.flatMap(headOf)).toContain('Subject: Report Bcc: victim@x.example Body');
  });

  test('whatever the subject and the names are', async () => {
    const piece = fc.constantFrom(
      '\r\n',
      '\n',
      '\r',
      'Bcc: victim@x.example',
      ' ',
      '\u0085',
      '\u2028',
      '=?utf-8?Q?=0D=0A?=',
      'ü',
      'x',
    );
    const words = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => `x${pieces.join('')}`);
    await fc.assert(
      fc.asyncProperty(words, async (subject) => {
        received = [];
        await send({ subject });
        const names = received.flatMap(headOf).map((line) => line.split(':', 1)[0]);
        expect(new Set(names)).toEqual(HEADERS);
        expect(names).toHaveLength(HEADERS.size);
        expect(received).toMatchObject([{ to: ['ann@x.example'] }]);
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    [{ to: 'ann@x.example\r\nBcc: victim@x.example' }, 'config.to: a mail address holds a line break'],
    [{ to: 'Ann\nBcc: v@x.example <ann@x.example>' }, 'config.to: a mail address holds a line break'],
    [{ replyTo: 'a@x.example\nX: y' }, 'config.replyTo: a mail address holds a line break'],
    [{ body: { path: '/etc/passwd' } }, 'config.body must be a text'],
    [{ html: { href: 'http://127.0.0.1/' } }, 'config.html must be a text'],
    [{ to: [{ address: 'a@x.example' }] }, 'config.to must be a text or a list of texts'],
  ])('%j', async (config, message) => {
    expect((await stepFailure(send(config))).message).toContain(message);
    expect(received).toEqual([]);
  });
});

test.each([
  [{ to: [] }, 'config.to names nobody'],
  [{ to: ' , ' }, 'config.to names nobody'],
  [{ to: 'nobody' }, 'config.to: "nobody" is not a mail address.'],
  [{ cc: 5 }, 'config.cc must be a text or a list of texts'],
  [{ subject: undefined }, 'config.subject is missing'],
  [{ subject: 's'.repeat(1001) }, 'config.subject is longer than 1000 characters'],
  [{ body: undefined }, 'config.body is missing'],
  [{ bcc: Array.from({ length: 100 }, (_, i) => `a${i}@x.example`) }, 'The mail has 101 recipients; there may be 100.'],
  [{ to: 'refused@x.example' }, 'The mail server refused: '],
])('%j fails', async (config, message) => {
  const failure = await stepFailure(send(config));
  expect(failure.message).toContain(message);
  expect(failure.message.length).toBeLessThan(600);
  expect(received).toEqual([]);
});

test('the words of a server that refuses are shown', async () => {
  expect((await stepFailure(send({ to: 'refused@x.example' }))).message).toContain('no mailbox here by that name');
});

test('without a server', async () => {
  const failure = await stepFailure(createEmailSend(undefined)(CONFIG, fakeStep()));
  expect(failure.message).toBe('Sending mail needs the setting SMTP_URL.');
});

test('a server that nobody runs', async () => {
  const unused = createServer().listen(0, '127.0.0.1');
  await once(unused, 'listening');
  const port = portOf(unused);
  unused.close();
  mailer?.close();
  mailer = openMailer(port);
  expect((await stepFailure(send({}))).message).toMatch(/^The mail server cannot be used \(\w+\)\.$/);
});

describe('a server that says nothing', () => {
  let silent: Server;

  beforeEach(async () => {
    silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });

  afterEach(() => silent.close());

  test('is given up', async () => {
    mailer?.close();
    mailer = openMailer(portOf(silent), 100);
    expect((await stepFailure(send({}))).message).toBe('The mail server did not answer in time.');
  });

  test('is not waited for when the step is ended', async () => {
    mailer?.close();
    mailer = openMailer(portOf(silent));
    const abort = new AbortController();
    const failure = stepFailure(send({}, fakeStep({ signal: abort.signal })));
    await once(silent, 'connection');
    abort.abort();
    expect((await failure).message).toBe('The mail was given up.');
    expect((await stepFailure(send({}, fakeStep({ signal: abort.signal })))).message).toBe('The mail was given up.');
  });
});
