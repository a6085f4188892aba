import * as contract from '../../../contract/routes/call-log.ts';
import type { Database } from '../../platform/db/index.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import type { CallLog } from './call-log.ts';
import { listCalls } from './list-calls.ts';

export function callLogRoutes({ database, callLog }: { database: Database; callLog: CallLog }): Route[] {
  return [
    implement(contract.listCalls, async ({ caller }, { query }) => {
      // Whoever has an answer of this process finds that call in the log.
      await callLog.flush();
      return listCalls(database, caller.developerId, query);
    }),
  ];
}
