/** Text around the screens. */
export const app = {
  menu: 'Menu',
  account: 'Account',
  close: 'Close',
  toContent: 'Go to content',
  keys: 'Keyboard',
  keySearch: 'Search',
  light: 'Light mode',
  dark: 'Dark mode',
  signOut: 'Sign out',
  projects: 'Projects',
  projectIs: (name: string) => `Project: ${name}`,
  search: 'Search',
  searchWhat: 'Search or paste an ID',
  nothingFound: 'Nothing found.',
  notFound: 'There is nothing here',
  notFoundWhy: 'The address is wrong, or what it showed was deleted or belongs to another project.',
  toHome: 'Go to the start page',
  held: 'Sending is on hold',
  heldWhy: (reason: string | null | undefined) =>
    `${reason ? `${reason} ` : ''}Mail of this project waits, and leaves when the hold is released.`,
};

export const nav = {
  groups: { audience: 'Audience', send: 'Send', activity: 'Activity' },
  home: 'Home',
  contacts: 'Contacts',
  segments: 'Segments',
  templates: 'Templates',
  campaigns: 'Campaigns',
  automations: 'Automations',
  messages: 'Messages',
  developers: 'Developers',
  settings: 'Settings',
  operator: 'Operator',
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
