import { documentOf } from './document.ts';

/** The page for a link that is invalid or has expired. It does not reveal which. */
export const NOT_FOUND_PAGE = documentOf({
  title: 'Link not found',
  body: '<h1>This link does not work</h1><p>Part of the link may be missing. Please open the link from the email again.</p>',
});
