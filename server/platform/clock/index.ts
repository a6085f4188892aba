// Time, handed in as a value so that tests can move it, and the UTC calendar.
// Used by limits, usage and whatever else counts by time.
// Must not know what is being timed.
export { nextUtcMidnightMs, systemClock, utcDay, type Clock } from './clock.ts';
