export const signIn = {
  title: 'Sign in to Tidings',
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  linkEnded: 'This link has expired',
  afterLinkEnded:
    'Links from npm start work once, within 15 minutes. Sign in with the owner’s email and password from dev.json, or run npm start again.',
  signUpTitle: 'Create account',
  signUp: 'Create account',
  signUpHelp: 'Includes a new project. You can join other projects later.',
  noAccount: 'No account yet?',
  haveAccount: 'Already have an account?',
  projectName: 'Project name',
  projectHelp: 'For example, a shop, a product or a club.',
  passwordRule: 'At least 8 characters',
  closed: 'You need an invitation to create an account here.',
};
