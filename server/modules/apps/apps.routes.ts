import * as contract from '../../../contract/routes/apps.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import { wireApp, wireListedApp } from './app-wire.ts';
import type { Apps } from './apps.ts';
import { createApp } from './create-app.ts';
import { readDashboard, type DashboardParts } from './dashboard/read-dashboard.ts';
import { createRecent } from './dashboard/recent.ts';
import { deleteApp } from './delete-app.ts';
import { noSuchApp } from './no-such-app.ts';
import { setStatus } from './set-status.ts';
import { updateApp } from './update-app.ts';

/** Of dashboards: how long data are given again, and how many widgets are remembered. */
const RECENT = { maxAgeMs: 10_000, maxEntries: 2000 };

export function appRoutes(apps: Apps): Route[] {
  const dashboards: DashboardParts = {
    apps,
    recent: createRecent({ ...RECENT, isKept: ({ status }) => status === 'ok' }),
  };
  return [
    implement(contract.createApp, async ({ caller: { developerId } }, { body }) => {
      const { row, isNew } = await createApp(apps, developerId, body);
      apps.forget(developerId);
      return isNew ? wireApp(row) : { ...wireApp(row), updated: true as const };
    }),
    implement(contract.listApps, async ({ caller }) => {
      const { apps: rows } = await apps.shelfOf(caller.developerId);
      return { apps: Array.from(rows.values(), ({ row }) => wireListedApp(row)), total: rows.size };
    }),
    implement(contract.getApp, async ({ caller }, { params }) => {
      const entry = (await apps.shelfOf(caller.developerId)).apps.get(params.id);
      if (!entry) throw noSuchApp(params.id);
      return entry.wire;
    }),
    implement(contract.getDashboard, (ctx, { params }) => readDashboard(dashboards, ctx, params.id)),
    implement(contract.updateApp, async ({ caller: { developerId } }, { params, body }) => {
      const row = await updateApp(apps, { developerId, appId: params.id }, body);
      apps.forget(developerId);
      return wireApp(row);
    }),
    implement(contract.deleteApp, async ({ caller: { developerId } }, { params }) => {
      await deleteApp(apps, developerId, params.id);
      apps.forget(developerId);
      return { success: true as const };
    }),
    implement(contract.publishApp, async ({ caller: { developerId } }, { params }) => {
      await setStatus(apps, { developerId, appId: params.id }, 'published');
      apps.forget(developerId);
      return { success: true as const, status: 'published' as const };
    }),
    implement(contract.unpublishApp, async ({ caller: { developerId } }, { params }) => {
      await setStatus(apps, { developerId, appId: params.id }, 'draft');
      apps.forget(developerId);
      return { success: true as const, status: 'draft' as const };
    }),
  ];
}
