import { documentOf } from './document.ts';

/** The page of a link that is none of ours, or not one any more. It says nothing of why. */
export const NOT_FOUND_PAGE = documentOf({
  title: 'Link not found',
  body: '<h1>This link does not work</h1><p>It may have been copied only in part. Try to open it from the message again.</p>',
});
