// Requests that change something: as JSON, with the secret of the page's forms where the site has accounts.

export function postJson(url: string, body: unknown, csrf: string, options: RequestInit = {}): Promise<Response> {
  const headers = { "Content-Type": "application/json", ...(csrf === "" ? {} : { "X-CSRF": csrf }) };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body), ...options });
}
