/** An error that keeps the service from starting. Its message is the one line that the user reads. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
  }
}
