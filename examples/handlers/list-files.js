// Lists the files of the folder that HANDLER_FOLDER names, by default the one that the agent was started in.
import { readdir } from 'node:fs/promises';

export const name = 'list_files';
export const description = 'Lists the names of the files in the shared folder of this machine.';
export const input_schema = { type: 'object', properties: {}, additionalProperties: false };

export async function run() {
  const entries = await readdir(process.env.HANDLER_FOLDER ?? '.', { withFileTypes: true });
  return { files: entries.filter((entry) => entry.isFile()).map((entry) => entry.name) };
}
