/** What the rest of the service has to know of a mail provider, so that nothing but its own files asks for its name. */
export interface EmailProviderTraits {
  /** It tells what became of a mail under an id of its own, so the ids that it gave are kept. */
  readonly tellsById: boolean;
}

/** Every mail provider of `EMAIL_PROVIDER`. */
export const EMAIL_PROVIDERS = {
  capture: { tellsById: false },
  smtp: { tellsById: false },
  ses: { tellsById: true },
} as const satisfies Record<string, EmailProviderTraits>;

export type EmailProviderKind = keyof typeof EMAIL_PROVIDERS;
