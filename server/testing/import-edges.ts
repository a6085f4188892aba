import { dirname, join } from 'node:path/posix';

/** One import: the importing file, and the file (as a path from the root) or the package (as `npm:name`) it names. */
export interface ImportEdge {
  from: string;
  to: string;
}

const MODULE = 'server/modules';
const PLATFORM = 'server/platform';

/** What each folder may import beside itself; of a module or a room of the platform, only its index.ts. */
const ALLOWED: Record<string, readonly string[]> = {
  contract: [],
  'server/migrations': [],
  [PLATFORM]: ['contract', PLATFORM],
  'server/modules/keys': ['contract', PLATFORM],
  'server/modules/models': ['contract', PLATFORM],
  'server/modules/relay': ['contract', PLATFORM],
  'server/modules/graph': ['contract', PLATFORM],
  'server/modules/events': ['contract', PLATFORM],
  'server/modules/tools': ['contract', PLATFORM, 'server/modules/relay'],
  'server/modules/knowledge': ['contract', PLATFORM, 'server/modules/models'],
  'server/modules/apps': ['contract', PLATFORM, 'server/modules/tools'],
  'server/modules/ai': [
    'contract',
    PLATFORM,
    'server/modules/models',
    'server/modules/tools',
    'server/modules/apps',
    'server/modules/knowledge',
  ],
  'server/modules/workflows': ['contract', PLATFORM, 'server/modules/tools', 'server/modules/ai'],
  'server/app': ['contract', PLATFORM, MODULE, 'client'],
  client: ['contract'],
  agent: ['contract', 'client'],
  console: ['contract', 'client'],
};

/** Packages that only some folders may import, so that nothing passes by their checks. */
const PACKAGE_HOMES = new Map([
  ['npm:undici', ['server/platform/net']],
  ['npm:pg', ['server/platform/db', 'server/platform/queue']],
]);

const IMPORTS = [
  /(?:^|;)\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gmu,
  /(?:^|;)\s*import\s*['"]([^'"]+)['"]/gmu,
  /\bimport\(\s*['"]([^'"]+)['"]/gu,
];

/** Reads the imports and re-exports of a source file: static and dynamic, of values and of types. */
export function readImports(file: string, source: string): ImportEdge[] {
  return IMPORTS.flatMap((pattern) =>
    [...source.matchAll(pattern)].map(([, specifier = '']) => ({
      from: file,
      to: specifier.startsWith('.') ? join(dirname(file), specifier) : `npm:${specifier}`,
    })),
  );
}

/** Names every import that the tables do not allow, and every two folders that import each other. */
export function refusedImports(edges: readonly ImportEdge[]): string[] {
  const checked = edges.filter(({ from }) => !isTesting(from));
  const refused = checked.filter((edge) => !isAllowed(edge));
  return [...refused.map(({ from, to }) => `${from} -> ${to}`), ...twoWayPairs(checked)];
}

function isTesting(file: string): boolean {
  return /^(?:server\/testing|bench)\/|\.test\.ts$/u.test(file);
}

function isAllowed({ from, to }: ImportEdge): boolean {
  const room = roomOf(from);
  if (to.startsWith('npm:')) return PACKAGE_HOMES.get(to)?.includes(room) ?? true;
  const target = roomOf(to);
  const allowed = ALLOWED[room] ?? ALLOWED[areaOf(room)];
  if (allowed === undefined) return false;
  if (room === target) return true;
  const isThroughFrontDoor = room === 'server/app' || areaOf(target) === target || to === `${target}/index.ts`;
  return isThroughFrontDoor && (allowed.includes(target) || allowed.includes(areaOf(target)));
}

/** The folder that the tables speak of: one of the modules, one of the platform's rooms, or one near the root. */
function roomOf(file: string): string {
  return /^(?:server\/(?:modules|platform)\/[^/]+|server\/[^/]+|[^/]+)(?=\/)/u.exec(file)?.[0] ?? '';
}

function areaOf(room: string): string {
  const parent = dirname(room);
  return parent === MODULE || parent === PLATFORM ? parent : room;
}

function twoWayPairs(edges: readonly ImportEdge[]): string[] {
  const pairs = new Set(edges.map(({ from, to }) => `${roomOf(from)} <-> ${roomOf(to)}`));
  return [...pairs].filter((pair) => {
    const [from = '', to = ''] = pair.split(' <-> ');
    return from < to && pairs.has(`${to} <-> ${from}`);
  });
}
