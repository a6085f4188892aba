/** Whether PostgreSQL can hold a text. What is asked for by one that it cannot hold is not there. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}
