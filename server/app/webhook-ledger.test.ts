import { randomInt } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { makeDataDir } from '../testing/data-dirs.ts';
import { openEventLedger, type EventLedger } from '../testing/event-ledger.ts';
import { ADMIN_KEY } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { troublePostgres } from '../testing/trouble-postgres.ts';

afterEach(cleanUpProcesses);

/** A long run by hand sets LEDGER_ROUNDS. */
const ROUNDS = Number(process.env['LEDGER_ROUNDS'] ?? 8);
const PUBLISHERS = 8;
/** A delivery that was under way at a kill falls due again after its lease of 30 s, one that failed after 6 s at most. */
const LATEST_DELIVERY_MS = 60_000;

/** Waits for a random number of further acknowledgements. */
async function someMore({ acknowledged }: EventLedger): Promise<void> {
  const enough = acknowledged.size + randomInt(20, 200);
  await expect.poll(() => acknowledged.size, { timeout: 30_000, interval: 2 }).toBeGreaterThan(enough);
}

test(
  'whatever is killed under load, every acknowledged event is delivered and none is invented',
  { timeout: LATEST_DELIVERY_MS + ROUNDS * 15_000 },
  async () => {
    const dataDir = await makeDataDir();
    const env = { BOOTSTRAP_API_KEY: ADMIN_KEY, ENTERPRISE_PER_MINUTE: '10000000' };
    let service = await startProcess({ dataDir, env });
    const ledger = await openEventLedger(service, ADMIN_KEY);
    for (let round = 0; round < ROUNDS; round++) {
      const { url } = service;
      const publishing = Promise.all(Array.from({ length: PUBLISHERS }, () => ledger.publish(url)));
      await someMore(ledger);
      await troublePostgres(dataDir, round);
      await someMore(ledger);
      await service.kill();
      await publishing;
      service = await startProcess({ dataDir, env });
    }

    const missing = (): number[] => {
      const delivered = ledger.delivered();
      return [...ledger.acknowledged].filter((n) => !delivered.has(n));
    };
    await expect.poll(missing, { timeout: LATEST_DELIVERY_MS, interval: 200 }).toEqual([]);
    const delivered = [...ledger.delivered()];
    expect(delivered.filter(([n]) => !ledger.sent.has(n))).toEqual([]);
    // A second id would be a second event.
    expect(delivered.filter(([, ids]) => new Set(ids).size > 1)).toEqual([]);
    expect((await service.stop()).code).toBe(0);
    const repeated = delivered.filter(([, ids]) => ids.length > 1).length;
    process.stdout.write(`${ROUNDS} kills: ${delivered.length} events delivered, ${repeated} more than once\n`);
    await ledger.stop();
  },
);
