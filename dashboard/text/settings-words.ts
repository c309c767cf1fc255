import type { Word } from './word.ts';

/** Actions in the audit log. */
export const audit: Record<string, Word> = {
  'apikey.created': { label: 'API key created', means: 'A new API key was created.', color: 'gray' },
  'apikey.revoked': { label: 'API key revoked', means: 'The key stopped working immediately.', color: 'gray' },
  'apikey.rotated': { label: 'API key rotated', means: 'A new secret replaced the old one.', color: 'gray' },
  'project.updated': { label: 'settings changed', means: 'Settings or limits of the project changed.', color: 'gray' },
  'project.held': { label: 'sending paused', means: 'Marketing and automation emails wait.', color: 'gray' },
  'project.released': { label: 'sending resumed', means: 'Emails that waited are sent.', color: 'gray' },
  'team.invited': { label: 'member invited', means: 'A new member got an invitation.', color: 'gray' },
  'team.invitation_withdrawn': {
    label: 'invitation withdrawn',
    means: 'The invitation link no longer works.',
    color: 'gray',
  },
  'team.joined': { label: 'member joined', means: 'An invited person joined the project.', color: 'gray' },
  'team.role_changed': { label: 'role changed', means: 'A member got another role.', color: 'gray' },
  'team.removed': { label: 'member removed', means: 'A member lost access to the project.', color: 'gray' },
  'contact.resubscribed': {
    label: 'contact resubscribed',
    means: 'A contact who had unsubscribed was subscribed again.',
    color: 'gray',
  },
  'sms_sender.created': {
    label: 'SMS sender added',
    means: 'SMS can be sent from this number or name.',
    color: 'gray',
  },
  'sms_sender.deleted': {
    label: 'SMS sender removed',
    means: 'SMS are no longer sent from this number or name.',
    color: 'gray',
  },
};

/** Sources of entries on the suppression list. */
export const source: Record<string, Word> = {
  dashboard: { means: 'A member suppressed the address in the dashboard.', color: 'gray' },
  api: { label: 'API request', means: 'A program suppressed the address with the API.', color: 'gray' },
  unsubscribe_page: { means: 'The contact used a link in an email.', color: 'gray' },
  dsn: { label: 'bounce report', means: 'The recipient’s mail server reported the bounce by email.', color: 'gray' },
  arf: { label: 'complaint report', means: 'The mailbox provider reported the complaint by email.', color: 'gray' },
  smtp: { label: 'mail server', means: 'The mail server refused an email to this address.', color: 'gray' },
  ses: { label: 'Amazon SES', means: 'Amazon SES reported the bounce or complaint.', color: 'gray' },
  capture: { label: 'development mailbox', means: 'Email is captured and never sent.', color: 'gray' },
  simulator: { means: 'A test address at simulator.test.', color: 'gray' },
};
