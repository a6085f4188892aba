export const name = 'echo';
export const description = 'Gives back its input.';
export const run = (input) => input;
