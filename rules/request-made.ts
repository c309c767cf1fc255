/** Ids of what a request has made, by kind; what follows from it later is found by them. */
export interface RequestMade {
  emails?: string[];
  events?: string[];
  executions?: string[];
  sms?: string[];
}
