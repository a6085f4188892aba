// Alerts: finds the conditions that developers are told of, and tells of each incident once.
// Used by deliveries, and by app, which hands over the events and the daily use of keys.
// Must not know who receives alert.triggered.
export { raiseAlerts } from './raise-alerts.ts';
export { createAlertListener } from './alert-listener.ts';
export { raiseDailyLimits } from './daily-limit.ts';
