import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{contract,server,client,agent,console,bench}/**/*.test.ts'],
    globalSetup: ['server/testing/start-test-cluster.ts'],
    // Two cores: more workers only wait for each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
