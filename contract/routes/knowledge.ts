import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { JsonObject, Name, OneOf, PathParam, Success, Text, Timestamp } from '../shared/schemas.ts';

/** Sizes and counts of knowledge bases. */
export const KNOWLEDGE_LIMITS = {
  /** Characters of a title. */
  titleLength: 1000,
  /** Characters of a query. */
  queryLength: 32_000,
  /** Passages that one query gives. */
  results: 100,
} as const;

export const BASE_TYPES = ['general', 'faq', 'manual'] as const;
export type BaseType = (typeof BASE_TYPES)[number];

const BaseName = Name({ description: 'Need not be unique.', examples: ['Support handbook'] });
const BaseDescription = Text({ description: 'What the base is about.', examples: ['How we answer customers.'] });
const NewBaseType = OneOf(BASE_TYPES, {
  default: 'general',
  description: 'How documents are split: faq keeps a question with its answer, manual keeps numbered steps together.',
});
const Metadata = Type.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  description: 'Free keys and values, such as category, version, department or priority.',
  examples: [{ category: 'returns', version: 3 }],
});
const Title = Type.String({
  minLength: 1,
  maxLength: KNOWLEDGE_LIMITS.titleLength,
  description: 'Need not be unique.',
  default: 'Untitled',
  examples: ['Returns policy'],
});
const Content = Type.String({
  minLength: 1,
  description: 'The text; headings, lists, tables and code of Markdown are respected where it is split.',
  examples: ['# Returns\n\nCustomers may return goods within 30 days.'],
});

const BaseId = Type.String({ examples: ['kb_01kagc2y5jv6f3w9c0m4x7t8zb'] });
const DocumentId = Type.String({ examples: ['doc_01kagc2y5jv6f3w9c0m4x7t8zb'] });

export const KnowledgeBase = Type.Object({
  _id: BaseId,
  developerId: Type.String({ examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  name: Type.String({ examples: ['Support handbook'] }),
  description: Type.String({ examples: ['How we answer customers.'] }),
  type: OneOf(BASE_TYPES),
  documentCount: Type.Integer({ minimum: 0, examples: [1] }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type KnowledgeBase = Static<typeof KnowledgeBase>;

export const KnowledgeDocument = Type.Object({
  _id: DocumentId,
  title: Type.String({ examples: ['Returns policy'] }),
  content: Type.String({ examples: ['# Returns\n\nCustomers may return goods within 30 days.'] }),
  metadata: Metadata,
  createdAt: Timestamp,
});
export type KnowledgeDocument = Static<typeof KnowledgeDocument>;

const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default all.' })),
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
});
const NextCursor = Type.Optional(Type.String({ description: 'Present while there are more.' }));
const BaseParam = PathParam('id', 'The _id of the knowledge base.');
const DocumentParam = Type.Object({
  id: Type.String({ minLength: 1, description: 'The _id of the knowledge base.' }),
  documentId: Type.String({ minLength: 1, description: 'The _id of the document.' }),
});

export const createKnowledgeBase = defineRoute({
  id: 'createKnowledgeBase',
  method: 'POST',
  path: '/v1/knowledge',
  tag: 'Knowledge',
  summary: 'Create a knowledge base',
  permission: 'write',
  status: 201,
  body: Type.Object({
    name: BaseName,
    description: Type.Optional(BaseDescription),
    type: Type.Optional(NewBaseType),
  }),
  response: KnowledgeBase,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const listKnowledgeBases = defineRoute({
  id: 'listKnowledgeBases',
  method: 'GET',
  path: '/v1/knowledge',
  tag: 'Knowledge',
  summary: 'List the knowledge bases',
  description: 'Oldest first. All of them, unless `limit` is given.',
  permission: 'read',
  status: 200,
  query: PageQuery,
  response: Type.Object({
    knowledgeBases: Type.Array(Type.Omit(KnowledgeBase, ['developerId', 'createdAt'])),
    nextCursor: NextCursor,
  }),
  errors: ['INVALID_REQUEST'],
});

export const getKnowledgeBase = defineRoute({
  id: 'getKnowledgeBase',
  method: 'GET',
  path: '/v1/knowledge/{id}',
  tag: 'Knowledge',
  summary: 'Read a knowledge base',
  permission: 'read',
  status: 200,
  params: BaseParam,
  response: KnowledgeBase,
  errors: ['NOT_FOUND'],
});

export const updateKnowledgeBase = defineRoute({
  id: 'updateKnowledgeBase',
  method: 'PUT',
  path: '/v1/knowledge/{id}',
  tag: 'Knowledge',
  summary: 'Change a knowledge base',
  description: 'Fields that are absent stay as they are. A new type counts for documents that are written afterwards.',
  permission: 'write',
  status: 200,
  params: BaseParam,
  body: Type.Object({
    name: Type.Optional(BaseName),
    description: Type.Optional(BaseDescription),
    type: Type.Optional(OneOf(BASE_TYPES)),
  }),
  response: KnowledgeBase,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const deleteKnowledgeBase = defineRoute({
  id: 'deleteKnowledgeBase',
  method: 'DELETE',
  path: '/v1/knowledge/{id}',
  tag: 'Knowledge',
  summary: 'Delete a knowledge base with its documents',
  permission: 'write',
  status: 200,
  params: BaseParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

export const uploadDocument = defineRoute({
  id: 'uploadDocument',
  method: 'POST',
  path: '/v1/knowledge/{id}/documents',
  tag: 'Knowledge',
  summary: 'Add a document',
  description: 'With the answer the document is stored, and found by every query that follows.',
  permission: 'write',
  status: 201,
  params: BaseParam,
  body: Type.Object({
    content: Content,
    title: Type.Optional(Title),
    metadata: Type.Optional(Metadata),
  }),
  response: Type.Object({ id: DocumentId, title: Type.String({ examples: ['Returns policy'] }) }),
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const listDocuments = defineRoute({
  id: 'listDocuments',
  method: 'GET',
  path: '/v1/knowledge/{id}/documents',
  tag: 'Knowledge',
  summary: 'List the documents of a knowledge base',
  description: 'Oldest first, without their content. All of them, unless `limit` is given.',
  permission: 'read',
  status: 200,
  params: BaseParam,
  query: PageQuery,
  response: Type.Object({
    documents: Type.Array(Type.Omit(KnowledgeDocument, ['content'])),
    nextCursor: NextCursor,
  }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});

export const getDocument = defineRoute({
  id: 'getDocument',
  method: 'GET',
  path: '/v1/knowledge/{id}/documents/{documentId}',
  tag: 'Knowledge',
  summary: 'Read a document',
  permission: 'read',
  status: 200,
  params: DocumentParam,
  response: KnowledgeDocument,
  errors: ['NOT_FOUND'],
});

export const deleteDocument = defineRoute({
  id: 'deleteDocument',
  method: 'DELETE',
  path: '/v1/knowledge/{id}/documents/{documentId}',
  tag: 'Knowledge',
  summary: 'Delete a document',
  permission: 'write',
  status: 200,
  params: DocumentParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

export const QueryResult = Type.Object({
  text: Type.String({ examples: ['Customers may return goods within 30 days.'] }),
  source: Type.String({ description: 'Title of the document.', examples: ['Returns policy'] }),
  metadata: Metadata,
  score: Type.Optional(Type.Number({ description: 'Only with details. Higher is better.', examples: [7.31] })),
  documentId: Type.Optional(
    Type.String({ description: 'Only with details.', examples: ['doc_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  ),
  start: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Only with details. Where the text begins in the content, in UTF-16 code units.',
      examples: [11],
    }),
  ),
  end: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Only with details. Where it ends, exclusive.', examples: [53] }),
  ),
});
export type QueryResult = Static<typeof QueryResult>;

export const queryKnowledge = defineRoute({
  id: 'queryKnowledge',
  method: 'POST',
  path: '/v1/knowledge/{id}/query',
  tag: 'Knowledge',
  summary: 'Find the passages that answer a question',
  description:
    'By words and by meaning, best first. Where neither finds anything, documents that contain the query literally, each with the first 500 characters of its content. The `metadata` is that of the document.',
  permission: 'read',
  status: 200,
  params: BaseParam,
  body: Type.Object({
    query: Type.String({
      minLength: 1,
      maxLength: KNOWLEDGE_LIMITS.queryLength,
      description: 'A question or words, in any language.',
      examples: ['How long may goods be returned?'],
    }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: KNOWLEDGE_LIMITS.results, default: 5 })),
    filter: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: 'Only documents whose metadata has these values at these (dotted) paths; an array means any of.',
        examples: [{ category: ['returns', 'shipping'] }],
      }),
    ),
    details: Type.Optional(
      Type.Boolean({ description: 'Also score, documentId, start and end of each passage.', default: false }),
    ),
  }),
  response: Type.Object({ results: Type.Array(QueryResult) }),
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const writeContent = defineRoute({
  id: 'writeContent',
  method: 'POST',
  path: '/v1/knowledge/{id}/content',
  tag: 'Knowledge',
  summary: 'Write a document, in place of the one of the same title',
  description:
    'Replaces content and metadata of the newest document whose title is `metadata.title`; adds one where there is none. Without that title, always adds one, named Untitled.',
  permission: 'write',
  status: 201,
  params: BaseParam,
  body: Type.Object({
    content: Content,
    metadata: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        properties: {
          title: {
            type: 'string',
            minLength: 1,
            maxLength: KNOWLEDGE_LIMITS.titleLength,
            description: 'Names the document.',
            examples: ['Returns policy'],
          },
        },
        description: 'Free keys and values.',
        examples: [{ title: 'Returns policy', category: 'returns' }],
      }),
    ),
  }),
  response: Success,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});
