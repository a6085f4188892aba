import { hash } from 'node:crypto';

/** What every vendor takes as the name of a tool. Ours may be in any script. */
const VENDOR_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const STEM_LENGTH = 40;
const TAG_LENGTH = 10;

/** The name by which the model knows a tool: its own where vendors take it, else a stem with a tag that tells it apart. */
export function modelToolName(name: string): string {
  if (VENDOR_NAME.test(name)) return name;
  const stem = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, STEM_LENGTH);
  return `${stem}_${hash('sha256', name, 'hex').slice(0, TAG_LENGTH)}`;
}
