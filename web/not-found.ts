import { renderHtmlPage } from './document.ts';

/** The page for an invalid or expired link. It does not reveal whether the link was ever valid. */
export const NOT_FOUND_PAGE = renderHtmlPage({
  title: 'Link not found',
  body: '<h1>This link does not work</h1><p>Part of the link may be missing. Please open the link from the email again.</p>',
});
