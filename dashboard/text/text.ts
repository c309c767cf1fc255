/**
 * Every text of the dashboard, by subject: to translate it, give other texts of this shape. As a namespace, not an
 * object, so that a subject’s texts are loaded with the screens that say them and not before the first screen shows.
 */
export * as text from './catalogue.ts';
