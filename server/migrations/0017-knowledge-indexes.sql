-- Until a table has statistics, an equality of its first columns makes all indexes look alike that begin with them: what
-- deletes the vectors of a document must find one index only.
drop index knowledge_vectors_by_no;
create index knowledge_vectors_by_batch on knowledge_vectors (model, base_no, no);
