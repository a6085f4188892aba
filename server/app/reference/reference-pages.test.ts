import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { declareSettings, integer, secret } from '../../platform/config/index.ts';
import { REFERENCE, referencePages } from './reference-pages.ts';
import { settingsPage } from './settings-page.ts';

describe('docs/reference', () => {
  it.each(['api.md', 'errors.md', 'settings.md'])('%s is what the code says', async (name) => {
    const generated = (await referencePages())[name];
    const committed = await readFile(new URL(name, REFERENCE), 'utf8');
    expect(committed, `docs/reference/${name} is out of date: run npm run reference`).toBe(generated);
  });

  it('has no page that is not generated here', async () => {
    expect(Object.keys(await referencePages())).toEqual(['api.md', 'errors.md', 'settings.md']);
  });

  it('links to nothing outside', async () => {
    const pages = await referencePages();
    const links = Object.values(pages).flatMap((text) => [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, to]) => to));
    expect(links.filter((to) => !Object.hasOwn(pages, to ?? ''))).toEqual([]);
  });
});

describe('the page of settings', () => {
  it('has a row for each setting, and marks secrets', () => {
    const declaration = declareSettings('Sample', {
      LIMIT: integer({ default: 5, min: 1, max: 9, doc: 'Of a | b, for <name>, as `<x>`.' }),
      TOKEN: secret({ doc: 'A token.' }),
    });
    const lines = settingsPage([declaration]).split('\n');
    expect(lines.slice(lines.indexOf('## Sample') + 2)).toEqual([
      '| Name | Accepts | Default | Meaning | Secret |',
      '| --- | --- | --- | --- | --- |',
      '| `LIMIT` | integer 1 to 9 | 5 | Of a \\| b, for \\<name>, as `<x>`. |  |',
      '| `TOKEN` | secret text | none | A token. | yes |',
      '',
    ]);
  });
});
