// The door for mail: addresses that users supply, checked, and messages to the operator's SMTP server.
// Used by workflows (email-send) and by app, which opens it when there is such a server.
// Must not know why anything is sent.
export { createMailer, MailError, type Mailer } from './create-mailer.ts';
export { parseAddresses, type MailAddress } from './mail-address.ts';
export { mailSettings } from './mail.settings.ts';
