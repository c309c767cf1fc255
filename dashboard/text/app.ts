/** Effect of a hold. The banner on all screens and the settings show the same sentence. */
export const HOLD_EFFECT =
  'Marketing and automation emails wait until sending is resumed. Transactional emails are still sent.';

/** Text of the sidebar, the search and the banner, which all screens share. */
export const app = {
  name: 'Tidings',
  claim: 'Email, SMS and automations.',
  claimWhere: 'On your own servers.',
  menu: 'Menu',
  account: 'Account',
  close: 'Close',
  toContent: 'Skip to content',
  keys: 'Keyboard shortcuts',
  keySearch: 'Search',
  light: 'Light mode',
  dark: 'Dark mode',
  signOut: 'Sign out',
  release: (version: string) => `Tidings ${version}`,
  projects: 'Projects',
  switchedElsewhere: (name: string) => `You switched to ${name} in another window.`,
  projectIs: (name: string) => `Project: ${name}`,
  search: 'Search',
  searchHelp: 'Search or paste an ID',
  nothingFound: 'No results found.',
  notFound: 'Page not found',
  notFoundWhy: 'The page may have been deleted, or it belongs to another project.',
  toHome: 'Back to Home',
  held: 'Sending is paused',
  heldBecause: (reason: string) => `Reason: ${reason}`,
  heldMeans: HOLD_EFFECT,
};

export const nav = {
  groups: { audience: 'Audience', send: 'Send', activity: 'Activity', developers: 'Developers' },
  home: 'Home',
  contacts: 'Contacts',
  segments: 'Segments',
  topics: 'Topics',
  templates: 'Templates',
  campaigns: 'Campaigns',
  automations: 'Automations',
  emails: 'Emails',
  sms: 'SMS',
  events: 'Events',
  keys: 'API keys',
  webhooks: 'Webhooks',
  requests: 'Request log',
  domains: 'Domains',
  settings: 'Settings',
  operator: 'Admin',
};

/** Nouns for one resource. */
export const subjects = {
  contact: 'Contact',
  campaign: 'Campaign',
  automation: 'Automation',
  template: 'Template',
  segment: 'Segment',
  email: 'Email',
};

export const roles = { OWNER: 'Owner', ADMIN: 'Admin', MEMBER: 'Member' };
