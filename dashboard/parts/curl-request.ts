/** A request to the API that the dashboard shows as code. */
export interface CurlRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: `/v1/${string}`;
  body?: unknown;
}
