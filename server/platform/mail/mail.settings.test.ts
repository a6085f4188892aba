import { expect, test } from 'vitest';
import { readSettings } from '../config/index.ts';
import { mailSettings } from './mail.settings.ts';

function mistakesOf(env: NodeJS.ProcessEnv): string[] {
  const mistakes: string[] = [];
  readSettings(mailSettings, env, mistakes);
  return mistakes;
}

test('a server and a sender', () => {
  const mistakes: string[] = [];
  const env = { SMTP_URL: 'smtps://user:word@mail.example:465', SMTP_FROM: 'Reports <reports@mail.example>' };
  const settings = readSettings(mailSettings, env, mistakes);
  expect(mistakes).toEqual([]);
  expect(settings.SMTP_URL?.reveal()).toBe('smtps://user:word@mail.example:465');
  expect(JSON.stringify(settings)).not.toContain('word');
});

test.each([
  [{ SMTP_URL: 'https://user:word@mail.example' }, ['SMTP_URL must be a URL that starts with smtp:// or smtps://']],
  [{ SMTP_URL: 'smtp://' }, ['SMTP_URL must be a URL that starts with smtp:// or smtps://']],
  [{ SMTP_FROM: 'nobody' }, ['SMTP_FROM "nobody" is not a mail address']],
  [{ SMTP_FROM: 'a@b.example, c@d.example' }, ['SMTP_FROM must be one address']],
])('%j is refused', (env, mistakes) => {
  expect(mistakesOf(env)).toEqual(mistakes);
});
