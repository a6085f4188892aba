// Outgoing mail over SMTP.
// Used by workflows' email-send; opened and closed by app.
// Must not know what a mail says.
export { createMailer, type Mailer } from './create-mailer.ts';
export { mailSettings } from './mail.settings.ts';
