/**
 * All strings of the dashboard, by subject. A translation has other strings in the same structure. This is a namespace
 * rather than an object, so that the text of a subject is loaded together with its screens.
 */
export * as text from './catalogue.ts';
