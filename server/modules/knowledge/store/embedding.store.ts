import { prepared, type Database, type Transaction } from '../../../platform/db/index.ts';
import { numbersOf } from './array-literal.ts';
import type { BaseKey, BaseName } from './base.store.ts';

/** Who embeds, and with what. */
export interface EmbeddingWorker {
  model: string;
  owner: string;
}

/** A base that one process has taken on. */
export interface EmbeddingClaim extends BaseKey {
  /** Of the base when it was taken on. */
  counter: number;
  /** Chunks up to this one have their vectors. */
  documentNo: number;
  position: number;
}

/** Seconds after which another process may go on with a base. */
const LEASE_SECONDS = 60;
const MOST_POSITION = 2 ** 31 - 1;

const FREE = `(e.owner is null or e.leased_until < now() or e.owner = $2)`;

// Those first that nobody has worked on for the longest time.
const selectLacking = prepared(`select b.developer_id as "developerId", b.id, b.no from knowledge_bases b
  left join knowledge_embeddings e on e.developer_id = b.developer_id and e.base_no = b.no and e.model = $1
  where b.counter > coalesce(e.document_no, 0) and ${FREE}
  order by e.leased_until nulls first limit $3`);

/** Bases that lack vectors and that nobody works on. Looks at all bases. */
export async function basesLackingVectors(
  database: Database,
  { model, owner }: EmbeddingWorker,
  limit: number,
): Promise<BaseKey[]> {
  return (await database.query<BaseKey>(selectLacking([model, owner, limit]))).rows;
}

const claim = prepared(`with wanted as (
    select b.developer_id, b.id, b.no, b.counter from knowledge_bases b
    left join knowledge_embeddings e on e.developer_id = b.developer_id and e.base_no = b.no and e.model = $1
    where b.developer_id = $3 and b.id = $4 and b.counter > coalesce(e.document_no, 0) and ${FREE}
  ), taken as (
    insert into knowledge_embeddings as e (developer_id, base_no, model, owner, leased_until)
    select developer_id, no, $1, $2, now() + interval '${LEASE_SECONDS} seconds' from wanted
    on conflict (developer_id, base_no, model)
      do update set owner = excluded.owner, leased_until = excluded.leased_until where ${FREE}
    returning developer_id, base_no, document_no, position
  )
  select w.developer_id as "developerId", w.id, w.no, w.counter, t.document_no as "documentNo", t.position
  from taken t join wanted w on w.developer_id = t.developer_id and w.no = t.base_no`);

/** Takes on a base; undefined when it has all its vectors, is gone, or another process works on it. */
export async function claimBase(
  database: Database,
  { model, owner }: EmbeddingWorker,
  { developerId, id }: BaseName,
): Promise<EmbeddingClaim | undefined> {
  return (await database.query<EmbeddingClaim>(claim([model, owner, developerId, id]))).rows[0];
}

const advance = prepared(`update knowledge_embeddings
  set document_no = $4, position = $5, leased_until = now() + interval '${LEASE_SECONDS} seconds'
  where developer_id = $1 and base_no = $2 and model = $3 and owner = $6`);

/** Notes how far vectors go; false when another process has taken the base on. */
export async function advanceClaim(
  tx: Transaction,
  { model, owner }: EmbeddingWorker,
  { developerId, no, documentNo, position }: EmbeddingClaim,
): Promise<boolean> {
  return (await tx.query(advance([developerId, no, model, documentNo, position, owner]))).rowCount > 0;
}

const release = prepared(`update knowledge_embeddings set owner = null, leased_until = now()
  where developer_id = $1 and base_no = $2 and model = $3 and owner = $4`);
const finish = prepared(`update knowledge_embeddings
  set owner = null, leased_until = now(), document_no = greatest(document_no, $5), position = ${MOST_POSITION}
  where developer_id = $1 and base_no = $2 and model = $3 and owner = $4`);

/** Gives a base back: with everything embedded that was there when it was taken on, or not. */
export async function releaseClaim(
  database: Database,
  { model, owner }: EmbeddingWorker,
  { developerId, no, counter, isDone }: EmbeddingClaim & { isDone: boolean },
): Promise<void> {
  const values = [developerId, no, model, owner];
  await database.query(isDone ? finish([...values, counter]) : release(values));
}

const raise = prepared(`update knowledge_bases set vector_counter = vector_counter + 1
  where developer_id = $1 and id = $2 and no = $3 returning vector_counter as batch`);

/** The number of a new batch of vectors; undefined when the base is gone. Locks the base. */
export async function nextBatch(tx: Transaction, { developerId, id, no }: BaseKey): Promise<number | undefined> {
  return (await tx.query<{ batch: number }>(raise([developerId, id, no]))).rows[0]?.batch;
}

const insert = prepared(`insert into knowledge_vectors (developer_id, base_no, document_no, position, model, no, vector)
  select $1, $2, w.document_no, w.position, $3, $4, substring($5::bytea from ((w.place - 1) * $6 + 1)::int for $6::int)
  from unnest($7::bigint[], $8::int[]) with ordinality as w (document_no, position, place)
  where exists (select from knowledge_chunks c
    where c.developer_id = $1 and c.base_no = $2 and c.document_no = w.document_no and c.position = w.position)
  on conflict (developer_id, base_no, document_no, position, model)
    do update set no = excluded.no, vector = excluded.vector`);

export interface NewVector {
  documentNo: number;
  position: number;
  vector: Float32Array;
}

/** Stores vectors of one length; those of chunks that are gone are passed over. */
export async function insertVectors(
  tx: Transaction,
  { developerId, no }: BaseKey,
  { model, batch, vectors }: { model: string; batch: number; vectors: readonly NewVector[] },
): Promise<void> {
  const bytes = vectors.map(({ vector }) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
  const documents = numbersOf(vectors.map(({ documentNo }) => documentNo));
  const positions = numbersOf(vectors.map(({ position }) => position));
  const size = bytes[0]?.length ?? 0;
  await tx.query(insert([developerId, no, model, batch, Buffer.concat(bytes), size, documents, positions]));
}
