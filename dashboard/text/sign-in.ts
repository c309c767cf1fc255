export const signIn = {
  title: 'Sign in to Tidings',
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  linkEnded: 'This link has ended',
  afterLinkEnded:
    'A link of npm start works once and for 15 minutes. Sign in with the owner’s address and password, which are in dev.json of its home, or start it again for a new link.',
  signUpTitle: 'Make an account',
  signUp: 'Make an account',
  signUpWhat: 'With a project of its own. You can be invited to others later.',
  noAccount: 'No account yet?',
  haveAccount: 'You have an account?',
  projectName: 'Name of your project',
  projectWhat: 'A shop, a product or a club.',
  passwordRule: '8 characters or more',
  closed: 'Accounts on this installation are made by invitation.',
};
