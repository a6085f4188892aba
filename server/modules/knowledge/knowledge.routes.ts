import * as contract from '../../../contract/routes/knowledge.ts';
import { createId } from '../../platform/ids/index.ts';
import { implement, type RequestContext, type Route } from '../../platform/http/index.ts';
import { wireBase, wireListedBase, wireListedDocument } from './base-wire.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { deleteDocument } from './documents/delete-document.ts';
import { writeContent } from './documents/write-content.ts';
import type { Knowledge } from './knowledge.ts';
import { noSuchBase, noSuchDocument } from './no-such-base.ts';
import type { FoundPassage } from './query/found-passage.ts';
import {
  basesAfter,
  changeBase,
  findBase,
  insertBase,
  lockBase,
  removeBase,
  type BaseName,
  type BaseRow,
} from './store/base.store.ts';
import { documentsAfter, findDocument } from './store/document.store.ts';

const SUCCESS = { success: true as const };
const DEFAULT_LIMIT = 5;

/** No id has this character, and the database refuses to compare with it. */
const NUL = '\0';

function nameOf({ caller }: RequestContext, { id }: { id: string }): BaseName {
  if (id.includes(NUL)) throw noSuchBase(id);
  return { developerId: caller.developerId, id };
}

function documentIdOf({ documentId }: { documentId: string }): string {
  if (documentId.includes(NUL)) throw noSuchDocument(documentId);
  return documentId;
}

/** The first of some rows, and where the next page begins when there is one more. */
function pageOf<Row>(rows: readonly Row[], limit: number | undefined, placeOf: (row: Row) => string | number) {
  const shown = rows.slice(0, limit);
  const last = shown.length < rows.length ? shown.at(-1) : undefined;
  return { shown, next: last ? { nextCursor: writeCursor(placeOf(last)) } : {} };
}

function bases({ database, onDeleted }: Knowledge): Route[] {
  return [
    implement(contract.createKnowledgeBase, async ({ caller }, { body }) => {
      const { name, description = '', type = 'general' } = body;
      const base = { developerId: caller.developerId, id: createId('kb'), name, description, type };
      return wireBase(await insertBase(database, base));
    }),
    implement(contract.listKnowledgeBases, async ({ caller }, { query: { limit, cursor } }) => {
      const after = cursor === undefined ? 0 : Number(readCursor(cursor, /^\d{1,15}$/u));
      const rows = await basesAfter(database, caller.developerId, { after, limit: limit && limit + 1 });
      const { shown, next } = pageOf(rows, limit, ({ no }) => no);
      return { knowledgeBases: shown.map(wireListedBase), ...next };
    }),
    implement(contract.getKnowledgeBase, async (ctx, { params }) => {
      const row = await findBase(database, nameOf(ctx, params));
      if (!row) throw noSuchBase(params.id);
      return wireBase(row);
    }),
    implement(contract.updateKnowledgeBase, async (ctx, { params, body }) => {
      const row = await changeBase(database, nameOf(ctx, params), body);
      if (!row) throw noSuchBase(params.id);
      return wireBase(row);
    }),
    implement(contract.deleteKnowledgeBase, async (ctx, { params }) => {
      const removed = await database.transaction(async (tx) => {
        const row = await lockBase(tx, nameOf(ctx, params));
        if (!row) throw noSuchBase(params.id);
        await removeBase(tx, row);
        return row;
      });
      await onDeleted(removed);
      return SUCCESS;
    }),
  ];
}

function documents({ database, uploads, onWritten }: Knowledge): Route[] {
  async function demandBase(name: BaseName): Promise<BaseRow> {
    const row = await findBase(database, name);
    if (!row) throw noSuchBase(name.id);
    return row;
  }
  return [
    implement(contract.uploadDocument, (ctx, { params, body }) => uploads.upload(nameOf(ctx, params), body)),
    implement(contract.listDocuments, async (ctx, { params, query: { limit, cursor } }) => {
      const base = await demandBase(nameOf(ctx, params));
      const after = cursor === undefined ? '' : readCursor(cursor, /^doc_[0-9a-z]{26}$/u);
      const rows = await documentsAfter(database, base, { after, limit: limit && limit + 1 });
      const { shown, next } = pageOf(rows, limit, ({ id }) => id);
      return { documents: shown.map(wireListedDocument), ...next };
    }),
    implement(contract.getDocument, async (ctx, { params }) => {
      const base = await demandBase(nameOf(ctx, params));
      const row = await findDocument(database, base, documentIdOf(params));
      if (!row) throw noSuchDocument(params.documentId);
      return { ...wireListedDocument(row), content: row.content };
    }),
    implement(contract.deleteDocument, async (ctx, { params }) => {
      onWritten(await deleteDocument(database, nameOf(ctx, params), documentIdOf(params)));
      return SUCCESS;
    }),
    implement(contract.writeContent, async (ctx, { params, body }) => {
      onWritten(await writeContent(database, nameOf(ctx, params), body));
      return SUCCESS;
    }),
  ];
}

function wireResult({ text, source, metadata, ...details }: FoundPassage, isDetailed: boolean): contract.QueryResult {
  const { score, documentId, start, end } = details;
  return { text, source, metadata, ...(isDetailed ? { score, documentId, start, end } : {}) };
}

export function knowledgeRoutes(knowledge: Knowledge): Route[] {
  return [
    ...bases(knowledge),
    ...documents(knowledge),
    implement(contract.queryKnowledge, async (ctx, { params, body }) => {
      const { query: text, limit = DEFAULT_LIMIT, filter, details = false } = body;
      const found = await knowledge.query(nameOf(ctx, params), { text, limit, filter });
      return { results: found.map((passage) => wireResult(passage, details)) };
    }),
  ];
}
