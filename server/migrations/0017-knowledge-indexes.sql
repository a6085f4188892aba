-- Until a table has statistics, or in plans that are older than these, an equality of its first columns makes all indexes
-- look alike that begin with them, and one of the others walks through the whole base. So each way of looking something
-- up finds one index only.
drop index knowledge_vectors_by_no;
create index knowledge_vectors_by_batch on knowledge_vectors (model, base_no, no);
drop index knowledge_documents_by_id;
create unique index knowledge_documents_by_id on knowledge_documents ((developer_id || base_no::text), id);
