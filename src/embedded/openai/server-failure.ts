/** What went wrong in the server itself; the release says with which status (`serverFailureStatus`). */
export class ServerFailure extends Error {}
