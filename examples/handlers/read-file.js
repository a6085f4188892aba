// Reads a text file of the same folder. The input comes from a model: what it may reach is decided here.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

export const name = 'read_file';
export const description = 'Reads a text file of the shared folder of this machine, by its name.';
export const input_schema = {
  type: 'object',
  properties: { file: { type: 'string', description: 'A name that list_files gave.' } },
  required: ['file'],
};

export async function run({ file }, { signal }) {
  if (basename(file) !== file || file.startsWith('.')) throw new Error(`"${file}" is not the name of a file here.`);
  const text = await readFile(join(process.env.HANDLER_FOLDER ?? '.', file), { encoding: 'utf8', signal });
  return { file, text };
}
