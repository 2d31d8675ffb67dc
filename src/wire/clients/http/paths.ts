/** `/v2/models/<model>[/versions/<version>]`; '' as a version is the latest. */
export function modelPath(model: string, version = ''): string {
  return `/v2/models/${encodeURIComponent(model)}${version === '' ? '' : `/versions/${encodeURIComponent(version)}`}`;
}
