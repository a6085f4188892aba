import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { readImports, refusedImports, type ImportEdge } from './import-edges.ts';

const SOURCES = '{contract,server,client,agent,console,bench}/**/*.{ts,tsx}';

describe('the imports of this repository', () => {
  const edges: ImportEdge[] = [];

  beforeAll(async () => {
    for await (const file of glob(SOURCES, { exclude: (name) => name.includes('node_modules') })) {
      edges.push(...readImports(file.replaceAll('\\', '/'), readFileSync(file, 'utf8')));
    }
  });

  it('were read, from more than a hundred files', () => {
    expect(new Set(edges.map(({ from }) => from)).size).toBeGreaterThan(100);
    expect(edges).toContainEqual({ from: 'server/app/main.ts', to: 'server/platform/errors/index.ts' });
  });

  it('keep to the allowed edges', () => {
    expect(refusedImports(edges)).toEqual([]);
  });
});

describe('readImports', () => {
  it('finds every form of import', () => {
    const source = [
      `import 'dotenv';`,
      `import { a } from './a.ts'; import { i } from './i.ts';`,
      `import type { B } from "../b/index.ts";`,
      `import {\n  c,\n  type D,\n} from '../../c.ts';`,
      `export * from './e.ts';`,
      `export { f } from './f.ts';`,
      `const g = await import('pg');`,
      `type H = typeof import('./h.ts');`,
    ].join('\n');

    const targets = readImports('server/modules/keys/x.ts', source).map(({ to }) => to);

    expect(targets.toSorted()).toEqual([
      'npm:dotenv',
      'npm:pg',
      'server/c.ts',
      'server/modules/b/index.ts',
      'server/modules/keys/a.ts',
      'server/modules/keys/e.ts',
      'server/modules/keys/f.ts',
      'server/modules/keys/h.ts',
      'server/modules/keys/i.ts',
    ]);
  });

  it('takes no other text for an import', () => {
    const source = [`export const from = 'a';`, `const text = "from 'b'";`, ` * import { c } from './c.ts';`].join(
      '\n',
    );

    expect(readImports('contract/x.ts', source)).toEqual([]);
  });
});

describe('refusedImports', () => {
  it.each([
    ['server/modules/ai/chat.ts', 'server/modules/models/index.ts'],
    ['server/modules/ai/chat.ts', 'server/modules/ai/streaming/frames.ts'],
    ['server/modules/keys/keys.ts', 'contract/shared/tiers.ts'],
    ['server/platform/queue/open-queue.ts', 'server/platform/db/index.ts'],
    ['server/app/main.ts', 'server/modules/keys/keys.settings.ts'],
    ['server/modules/keys/keys.test.ts', 'server/testing/start-test-app.ts'],
    ['server/testing/start-test-app.ts', 'server/app/main.ts'],
    ['server/platform/net/outbound.ts', 'npm:undici'],
    ['agent/cli/main.ts', 'client/index.ts'],
  ])('allows %s -> %s', (from, to) => {
    expect(refusedImports([{ from, to }])).toEqual([]);
  });

  it.each([
    ['contract/routes/keys.ts', 'server/platform/errors/index.ts'],
    ['server/platform/db/open-database.ts', 'server/modules/keys/index.ts'],
    ['server/platform/db/open-database.ts', 'server/app/settings.ts'],
    ['server/platform/queue/open-queue.ts', 'server/platform/db/open-database.ts'],
    ['server/modules/keys/keys.ts', 'server/modules/ai/index.ts'],
    ['server/modules/ai/chat.ts', 'server/modules/models/http-model.ts'],
    ['server/modules/ai/chat.ts', 'server/app/settings.ts'],
    ['server/modules/ai/chat.ts', 'server/testing/scripted-vendor.ts'],
    ['server/modules/unheard-of/x.ts', 'contract/shared/tiers.ts'],
    ['server/stray.ts', 'contract/shared/tiers.ts'],
    ['server/app/main.ts', 'server/testing/scripted-vendor.ts'],
    ['client/index.ts', 'server/app/main.ts'],
    ['agent/cli/main.ts', 'server/app/main.ts'],
    ['console/main.tsx', 'agent/cli/main.ts'],
    ['server/modules/ai/chat.ts', 'vitest.config.ts'],
    ['server/modules/tools/call.ts', 'npm:undici'],
    ['server/modules/keys/key.store.ts', 'npm:pg'],
  ])('refuses %s -> %s', (from, to) => {
    expect(refusedImports([{ from, to }])).toEqual([`${from} -> ${to}`]);
  });

  it('refuses two folders that import each other, whatever is allowed', () => {
    expect(
      refusedImports([
        { from: 'server/platform/db/a.ts', to: 'server/platform/queue/index.ts' },
        { from: 'server/platform/queue/b.ts', to: 'server/platform/db/index.ts' },
      ]),
    ).toEqual(['server/platform/db <-> server/platform/queue']);
  });
});
