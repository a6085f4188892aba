-- By these the service finds what has been kept long enough.
create index outbox_events_dispatched on outbox_events (dispatched_at) where dispatched_at is not null;
create index webhook_deliveries_finished on webhook_deliveries (updated_at) where status <> 'pending';
create index webhook_deliveries_of_message on webhook_deliveries (developer_id, message_id);
create index webhook_messages_by_age on webhook_messages (created_at);
