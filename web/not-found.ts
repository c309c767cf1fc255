import { documentOf } from './document.ts';

/** The page for a link that is invalid or has expired. It does not reveal which. */
export const NOT_FOUND_PAGE = documentOf({
  title: 'Link not found',
  body: '<h1>This link does not work</h1><p>It may have been copied only in part. Try to open it from the message again.</p>',
});
