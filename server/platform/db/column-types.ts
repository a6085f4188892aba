import { types, type CustomTypesConfig } from 'pg';

/** Exact up to 2^53; larger values stay text rather than lose digits. */
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

const PARSERS = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, parseInt8],
  // A calendar day has no time zone: the driver's default would turn it into an instant of the local one.
  [types.builtins.DATE, (text) => text],
]);

/** How columns become values: int8 a number where safe, date its text, everything else as the driver has it. */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    const own = format === 'binary' ? undefined : PARSERS.get(oid);
    // oxlint-disable-next-line typescript/no-unsafe-return -- the driver types its parsers as any
    return own ?? types.getTypeParser(oid, format);
  },
};
