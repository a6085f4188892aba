import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { JsonObject, JsonValue, Name, OneOf, PathParam, Success, Text, Timestamp } from '../shared/schemas.ts';

/** Stands for a value that is never shown; sent back, it keeps what is stored. */
export const HIDDEN = '***';

export const APP_STATUSES = ['draft', 'published'] as const;
export type AppStatus = (typeof APP_STATUSES)[number];

export const WIDGET_TYPES = ['stat', 'chart'] as const;
export const CHART_TYPES = ['line', 'bar', 'area', 'pie'] as const;

/** Unknown keys are kept. */
const OPEN = { additionalProperties: true };

const AppId = Name({ description: 'Unique for the developer; kebab-case is best.', examples: ['crm'] });
const AppName = Name({ description: 'The name in English.', examples: ['Customers'] });
const Label = (description: string, example: string) =>
  Type.Optional(Text({ description, examples: [example], maxLength: 1000 }));

const AppInfo = Type.Object(
  {
    id: AppId,
    name: AppName,
    nameZh: Label('The name in Chinese.', '客户'),
    domain: Label('Such as operations, hr or finance.', 'operations'),
    subsystem: Label('Such as ERP, CRM or IoT.', 'CRM'),
  },
  OPEN,
);

const ServiceConfig = Type.Object(
  {
    credentials: Type.Optional(
      Type.Array(Name({ description: 'Name of a credential.', examples: ['token'] }), {
        maxItems: 100,
        description: 'Names of what an installer has to give; tools use them as `{{credentials.name}}`.',
        examples: [['token']],
      }),
    ),
    baseUrl: Type.Optional(
      Type.String({
        maxLength: 2048,
        description: 'Relative urls of the tools of the app are joined to it.',
        examples: ['https://crm.example.com/api'],
      }),
    ),
    headers: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: `Sent with every call of a tool of the app. Stored encrypted and shown as "${HIDDEN}"; "${HIDDEN}" sent back keeps the value.`,
        examples: [{ Authorization: HIDDEN }],
      }),
    ),
  },
  {
    ...OPEN,
    description: `Where the service of the app is. Values of headers, and of keys that look secret anywhere in the definition, are stored encrypted and shown as "${HIDDEN}".`,
  },
);

const Widget = Type.Object(
  {
    type: OneOf(WIDGET_TYPES, { description: 'One number, or a chart.' }),
    title: Text({ description: 'Shown above it.', examples: ['Orders a day'], maxLength: 1000 }),
    source: Name({ description: 'Name of the tool that gives its data.', examples: ['orders_per_day'] }),
    chartType: Type.Optional(OneOf(CHART_TYPES, { description: 'Of a chart; line when absent.' })),
    input: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: 'What the tool is given; nothing when absent.',
        examples: [{ days: 7 }],
      }),
    ),
  },
  OPEN,
);

const Dashboard = Type.Object(
  { widgets: Type.Optional(Type.Array(Widget, { maxItems: 100, description: 'In the order they are shown.' })) },
  OPEN,
);

const ToolPacks = Type.Array(Name({ description: 'packId of a tool pack.', examples: ['crm-basics'] }), {
  maxItems: 100,
  description: 'Packs whose tools and knowledge belong to the app. One that does not exist (yet) adds nothing.',
  examples: [['crm-basics']],
});

const PARTS = {
  serviceConfig: Type.Optional(ServiceConfig),
  dashboard: Type.Optional(Dashboard),
  toolPacks: Type.Optional(ToolPacks),
};

const Definition = Type.Object({ app: AppInfo, ...PARTS }, OPEN);
export type AppDefinition = Static<typeof Definition> & Record<string, unknown>;

const Status = OneOf(APP_STATUSES, { description: 'Only published apps are on the marketplace.' });

export const App = Type.Object({
  _id: Type.String({ examples: ['app_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  appId: Type.String({ description: 'Equals definition.app.id.', examples: ['crm'] }),
  developerId: Type.String({ examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  definition: Definition,
  status: Status,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updated: Type.Optional(Type.Literal(true, { description: 'Only when creating changed an existing app.' })),
});
export type App = Static<typeof App>;

export const createApp = defineRoute({
  id: 'createApp',
  method: 'POST',
  path: '/v1/apps',
  tag: 'Apps',
  summary: 'Create an app, or replace the definition of the one of that id',
  description: 'Unknown keys are kept. An app that exists keeps its status.',
  permission: 'write',
  status: 201,
  body: Definition,
  response: App,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'CONFLICT'],
});

export const listApps = defineRoute({
  id: 'listApps',
  method: 'GET',
  path: '/v1/apps',
  tag: 'Apps',
  summary: 'List the apps of the developer',
  description: 'In order of appId.',
  permission: 'read',
  status: 200,
  response: Type.Object({
    apps: Type.Array(Type.Omit(App, ['developerId', 'createdAt', 'updated'])),
    total: Type.Integer({ minimum: 0, examples: [1] }),
  }),
  errors: [],
});

const IdParam = PathParam('id', 'The appId.');

export const getApp = defineRoute({
  id: 'getApp',
  method: 'GET',
  path: '/v1/apps/{id}',
  tag: 'Apps',
  summary: 'Read an app',
  permission: 'read',
  status: 200,
  params: IdParam,
  response: App,
  errors: ['NOT_FOUND'],
});

export const updateApp = defineRoute({
  id: 'updateApp',
  method: 'PUT',
  path: '/v1/apps/{id}',
  tag: 'Apps',
  summary: 'Change an app',
  description:
    'Parts that are absent stay as they are. Keys of `app` are changed one by one, and its `id` cannot be changed; the other parts are replaced. `status` publishes the app or takes it down.',
  permission: 'write',
  status: 200,
  params: IdParam,
  body: Type.Object({ app: Type.Optional(Type.Partial(AppInfo, OPEN)), ...PARTS, status: Type.Optional(Status) }, OPEN),
  response: App,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
});

export const deleteApp = defineRoute({
  id: 'deleteApp',
  method: 'DELETE',
  path: '/v1/apps/{id}',
  tag: 'Apps',
  summary: 'Delete an app',
  description: 'Its tools stay. Installations keep the version that they pinned.',
  permission: 'write',
  status: 200,
  params: IdParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

export const publishApp = defineRoute({
  id: 'publishApp',
  method: 'POST',
  path: '/v1/apps/{id}/publish',
  tag: 'Apps',
  summary: 'Put an app on the marketplace',
  description:
    'The definition, tools and packs of this moment become the version that is installed; later changes are seen by installers when the app is published again.',
  permission: 'write',
  status: 200,
  params: IdParam,
  response: Type.Object({ success: Type.Literal(true), status: Type.Literal('published') }),
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const unpublishApp = defineRoute({
  id: 'unpublishApp',
  method: 'POST',
  path: '/v1/apps/{id}/unpublish',
  tag: 'Apps',
  summary: 'Take an app off the marketplace',
  description: 'It is a draft again. Installations keep the version that they pinned.',
  permission: 'write',
  status: 200,
  params: IdParam,
  response: Type.Object({ success: Type.Literal(true), status: Type.Literal('draft') }),
  errors: ['NOT_FOUND'],
});

const ChartLabel = Type.String({ examples: ['2026-01-31'] });

const Stat = Type.Object({
  value: Type.Union([Type.Number(), Type.String()], { examples: [128] }),
  unit: Type.Optional(Type.String({ examples: ['EUR'] })),
  change: Type.Optional(
    Type.Number({ description: 'Against the time before, as the tool gives it.', examples: [0.1] }),
  ),
});

const Series = Type.Object({
  name: Type.String({ examples: ['orders'] }),
  values: Type.Array(Type.Union([Type.Number(), Type.Null()]), { examples: [[12, 17]] }),
});

const Chart = Type.Object({
  labels: Type.Array(ChartLabel, { description: 'Of the points, in order.', examples: [['2026-01-30', '2026-01-31']] }),
  series: Type.Array(Series, { description: 'One value for each label; a pie has one series.' }),
});
export type ChartData = Static<typeof Chart>;
export type StatData = Static<typeof Stat>;

const WidgetState = Type.Object({
  type: OneOf(WIDGET_TYPES),
  title: Type.String({ examples: ['Orders a day'] }),
  source: Type.String({ examples: ['orders_per_day'] }),
  chartType: Type.Optional(OneOf(CHART_TYPES)),
  status: OneOf(['ok', 'error']),
  data: Type.Optional(
    Type.Unsafe<StatData | ChartData>({
      ...JsonValue,
      description: 'Of a stat {value, unit?, change?}, of a chart {labels, series: [{name, values}]}.',
      examples: [{ labels: ['2026-01-30', '2026-01-31'], series: [{ name: 'orders', values: [12, 17] }] }],
    }),
  ),
  error: Type.Optional(Text({ description: 'Why there is no data.' })),
  updatedAt: Timestamp,
});
export type WidgetState = Static<typeof WidgetState>;

export const getDashboard = defineRoute({
  id: 'getDashboard',
  method: 'GET',
  path: '/v1/apps/{id}/dashboard',
  tag: 'Apps',
  summary: 'Run the widgets of an app',
  description:
    'Calls the source of every widget at the same time, and keeps what it gave for ten seconds. A widget that fails says so and leaves the others alone. The id is the appId of an own or an installed app, or the id of an installation.',
  permission: 'read',
  status: 200,
  params: PathParam('id', 'The appId, or the id of an installation.'),
  response: Type.Object({
    appId: Type.String({ examples: ['crm'] }),
    name: Type.String({ examples: ['Customers'] }),
    widgets: Type.Array(WidgetState),
  }),
  errors: ['NOT_FOUND'],
});
