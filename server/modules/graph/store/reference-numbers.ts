// What a reference resolves to where that is no node. Apart from the statements, so that the thread which reads the body of
// a sync need not load the database driver.

/** No node has that externalId or name. */
export const UNKNOWN = -1;
/** Several nodes have that name, and none that externalId. */
export const AMBIGUOUS = -2;
