import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { Name, OneOf, PathParam, Success, Timestamp } from '../shared/schemas.ts';
import { WIDGET_TYPES } from './apps.ts';

const LISTED = {
  _id: Type.String({ examples: ['app_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  appId: Type.String({ examples: ['crm'] }),
  developerId: Type.String({ description: 'Who published it.', examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  name: Type.String({ examples: ['Customers'] }),
  nameZh: Type.Optional(Type.String({ examples: ['客户'] })),
  domain: Type.Optional(Type.String({ examples: ['operations'] })),
  subsystem: Type.Optional(Type.String({ examples: ['CRM'] })),
  version: Type.Integer({ minimum: 1, description: 'Counts publications.', examples: [1] }),
  publishedAt: Timestamp,
};

const ListedApp = Type.Object(LISTED);
export type ListedApp = Static<typeof ListedApp>;

const Grants = Type.Object(
  {
    tools: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['get_order'] }),
        description: Type.String({ examples: ['Reads one order by its id.'] }),
        type: OneOf(['http', 'handler'], { description: 'A handler runs on a desktop agent of the installer.' }),
        method: Type.Optional(Type.String({ examples: ['GET'] })),
        host: Type.Optional(Type.String({ examples: ['crm.example.com'] })),
        credentials: Type.Array(Type.String({ examples: ['token'] }), { description: 'What is sent to that host.' }),
      }),
    ),
    hosts: Type.Array(Type.String({ examples: ['crm.example.com'] }), { description: 'Every host that is called.' }),
    credentials: Type.Array(Type.String({ examples: ['token'] }), { description: 'What the installer has to give.' }),
  },
  { description: 'What an installer agrees to.' },
);
export type Grants = Static<typeof Grants>;

const PREVIEW = {
  ...LISTED,
  grants: Grants,
  widgets: Type.Array(Type.Object({ type: OneOf(WIDGET_TYPES), title: Type.String({ examples: ['Orders a day'] }) }), {
    description: 'Of the dashboard.',
  }),
  toolPacks: Type.Array(Type.String({ examples: ['crm-basics'] }), { description: 'Whose knowledge joins chats.' }),
};

export const listMarketplaceApps = defineRoute({
  id: 'listMarketplaceApps',
  method: 'GET',
  path: '/v1/marketplace/apps',
  tag: 'Marketplace',
  summary: 'List the published apps of all developers',
  description: 'Newest apps first.',
  permission: 'read',
  status: 200,
  query: Type.Object({
    q: Type.Optional(Type.String({ maxLength: 200, description: 'Text in the name, in English or Chinese.' })),
    domain: Type.Optional(Type.String({ maxLength: 1000, description: 'Only apps of this domain.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 50.' })),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'The nextCursor of the page before.' })),
  }),
  response: Type.Object({
    apps: Type.Array(ListedApp),
    total: Type.Integer({ description: 'How many there are, on all pages.', examples: [1] }),
    nextCursor: Type.Optional(Type.String()),
  }),
  errors: ['INVALID_REQUEST'],
});

const AppParam = PathParam('id', 'The _id of the published app.');

export const previewMarketplaceApp = defineRoute({
  id: 'previewMarketplaceApp',
  method: 'GET',
  path: '/v1/marketplace/apps/{id}',
  tag: 'Marketplace',
  summary: 'Read what an installation of a published app grants',
  permission: 'read',
  status: 200,
  params: AppParam,
  response: Type.Object(PREVIEW),
  errors: ['NOT_FOUND'],
});

const Installation = Type.Object({
  _id: Type.String({ examples: ['inst_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  developerId: Type.String({ description: 'Who installed it.', examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  marketplaceAppId: Type.String({
    description: '_id on the marketplace.',
    examples: ['app_01kagc2y5jv6f3w9c0m4x7t8zb'],
  }),
  appId: Type.String({ examples: ['crm'] }),
  name: Type.String({ examples: ['Customers'] }),
  version: Type.Integer({ minimum: 1, description: 'The pinned version.', examples: [1] }),
  status: OneOf(['installed', 'configured'], { description: 'Configured when no credential is missing.' }),
  credentials: Type.Unsafe<Record<string, string | null>>({
    type: 'object',
    additionalProperties: { type: ['string', 'null'] },
    description: 'Every credential that is asked for: "***" when given, else null.',
    examples: [{ token: '***' }],
  }),
  grants: Grants,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updated: Type.Optional(Type.Literal(true, { description: 'Only when installing changed an installation.' })),
});
export type Installation = Static<typeof Installation>;

export const installApp = defineRoute({
  id: 'installApp',
  method: 'POST',
  path: '/v1/marketplace/apps/{id}/install',
  tag: 'Marketplace',
  summary: 'Install a published app, or bring it to the present version',
  description:
    'Pins the published version. An app that is installed already moves to it and keeps the credentials that are still asked for.',
  permission: 'write',
  status: 201,
  params: AppParam,
  response: Installation,
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const listInstallations = defineRoute({
  id: 'listInstallations',
  method: 'GET',
  path: '/v1/installations',
  tag: 'Marketplace',
  summary: 'List the installed apps',
  description: 'Newest first.',
  permission: 'read',
  status: 200,
  response: Type.Object({
    installations: Type.Array(Type.Omit(Installation, ['grants', 'updated'])),
    total: Type.Integer({ minimum: 0, examples: [1] }),
  }),
  errors: [],
});

const InstallationParam = PathParam('id', 'The id of the installation.');

export const getInstallation = defineRoute({
  id: 'getInstallation',
  method: 'GET',
  path: '/v1/installations/{id}',
  tag: 'Marketplace',
  summary: 'Read an installation',
  permission: 'read',
  status: 200,
  params: InstallationParam,
  response: Installation,
  errors: ['NOT_FOUND'],
});

export const configureInstallation = defineRoute({
  id: 'configureInstallation',
  method: 'POST',
  path: '/v1/installations/{id}/configure',
  tag: 'Marketplace',
  summary: 'Give the credentials that an installed app asks for',
  description:
    'Those that are absent, or "***", stay as they are; null takes one away. They are stored encrypted and never shown.',
  permission: 'write',
  status: 200,
  params: InstallationParam,
  body: Type.Object({
    credentials: Type.Record(
      Name({ description: 'Name of a credential.', examples: ['token'] }),
      Type.Union([Type.String({ minLength: 1, maxLength: 10_000 }), Type.Null()]),
      { examples: [{ token: 'my-token' }] },
    ),
  }),
  response: Installation,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const uninstallApp = defineRoute({
  id: 'uninstallApp',
  method: 'DELETE',
  path: '/v1/installations/{id}',
  tag: 'Marketplace',
  summary: 'Uninstall an app',
  description: 'Its credentials are gone with it.',
  permission: 'write',
  status: 200,
  params: InstallationParam,
  response: Success,
  errors: ['NOT_FOUND'],
});
