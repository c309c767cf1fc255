/**
 * All strings of the dashboard, by subject; a translation has other strings in this shape. It is a namespace rather
 * than an object, so that a subject's text is loaded with its screens and not before the first screen shows.
 */
export * as text from './catalogue.ts';
