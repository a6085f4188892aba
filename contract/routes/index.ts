import * as admin from './admin.ts';
import * as agents from './agents.ts';
import * as ai from './ai.ts';
import * as apps from './apps.ts';
import * as callLog from './call-log.ts';
import * as events from './events.ts';
import * as keys from './keys.ts';
import * as toolPacks from './tool-packs.ts';
import * as tools from './tools.ts';

/** Every endpoint, by its id. */
export const ROUTES = {
  createApiKey: keys.createApiKey,
  listApiKeys: keys.listApiKeys,
  revokeApiKey: keys.revokeApiKey,
  getUsage: keys.getUsage,
  createDeveloper: admin.createDeveloper,
  listDevelopers: admin.listDevelopers,
  updateDeveloper: admin.updateDeveloper,
  registerTool: tools.registerTool,
  listTools: tools.listTools,
  getTool: tools.getTool,
  updateTool: tools.updateTool,
  deleteTool: tools.deleteTool,
  testTool: tools.testTool,
  createToolPack: toolPacks.createToolPack,
  listToolPacks: toolPacks.listToolPacks,
  getToolPack: toolPacks.getToolPack,
  updateToolPack: toolPacks.updateToolPack,
  deleteToolPack: toolPacks.deleteToolPack,
  publishToolPack: toolPacks.publishToolPack,
  createApp: apps.createApp,
  listApps: apps.listApps,
  getApp: apps.getApp,
  updateApp: apps.updateApp,
  deleteApp: apps.deleteApp,
  publishApp: apps.publishApp,
  unpublishApp: apps.unpublishApp,
  chat: ai.chat,
  chatStream: ai.chatStream,
  toolCall: ai.toolCall,
  createWebhook: events.createWebhook,
  listWebhooks: events.listWebhooks,
  updateWebhook: events.updateWebhook,
  deleteWebhook: events.deleteWebhook,
  testWebhook: events.testWebhook,
  recoverWebhook: events.recoverWebhook,
  listDeliveries: events.listDeliveries,
  getDelivery: events.getDelivery,
  redeliver: events.redeliver,
  listEventTypes: events.listEventTypes,
  listCalls: callLog.listCalls,
  listAgents: agents.listAgents,
} as const;
