/** An answer of the @connections API that is not success. The SDKs tell errors apart by `x-amzn-ErrorType`. */
export class ManagementError {
  readonly status: number;
  readonly type: string;
  readonly message: string;

  constructor(status: number, type: string, message: string) {
    this.status = status;
    this.type = type;
    this.message = message;
  }
}

export const gone = new ManagementError(410, 'GoneException', 'Gone');
export const throttled = new ManagementError(429, 'LimitExceededException', 'Too Many Requests');
export const tooLarge = new ManagementError(413, 'PayloadTooLargeException', 'Message too long');
export const internal = new ManagementError(500, 'InternalServerErrorException', 'Internal server error');
export const badRequest = new ManagementError(400, 'BadRequestException', 'Bad Request');
export const forbidden = new ManagementError(403, 'ForbiddenException', 'Forbidden');
export const notAllowed = new ManagementError(405, 'MethodNotAllowedException', 'Method Not Allowed');
