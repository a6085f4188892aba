// `npm run reference`: writes docs/reference from the contract and the settings.
import { mkdir, writeFile } from 'node:fs/promises';
import { REFERENCE, referencePages } from './reference-pages.ts';

await mkdir(REFERENCE, { recursive: true });
for (const [name, text] of Object.entries(await referencePages())) await writeFile(new URL(name, REFERENCE), text);
