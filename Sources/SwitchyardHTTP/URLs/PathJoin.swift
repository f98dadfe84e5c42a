/// How a request's path is joined to the base URL.
///
/// | base | path | ``append`` | ``relative`` |
/// |---|---|---|---|
/// | `https://h/v1` | *(empty)* | `https://h/v1` | `https://h/v1` |
/// | `https://h/v1` | `users` | `https://h/v1/users` | `https://h/users` |
/// | `https://h/v1/` | `users` | `https://h/v1/users` | `https://h/v1/users` |
/// | `https://h/v1` | `/users` | `https://h/v1/users` | `https://h/users` |
/// | `https://h/v1` | `users/` | `https://h/v1/users/` | `https://h/users/` |
/// | `https://h/v1` | `/` | `https://h/v1/` | `https://h/` |
/// | `https://h/v1?k=1` | `users?p=2` | `https://h/v1/users?k=1&p=2` | `https://h/users?p=2` |
/// | `https://h/v1` | `?p=2` | `https://h/v1?p=2` | `https://h/v1?p=2` |
/// | `https://h/v1` | `users#top` | `https://h/v1/users` | `https://h/users` |
/// | `https://h/v1` | `a b/ü` | `https://h/v1/a%20b/%C3%BC` | `https://h/a%20b/%C3%BC` |
/// | `https://h/v1` | `a%20b` | `https://h/v1/a%20b` | `https://h/a%20b` |
/// | `https://h/v1` | `a/../b` | `https://h/v1/b` | `https://h/b` |
/// | `https://h/v1` | `../b` | error | `https://h/b` |
/// | `https://h/v1` | `//x/y` | `https://h/v1//x/y` | `https://x/y` |
/// | `https://h/v1` | `http://x/y` | `http://x/y` | `http://x/y` |
/// | `https://h/v1` | `items:find` | `https://h/v1/items:find` | error |
/// | `https://h/v1` | `httpLogs/x` | `https://h/v1/httpLogs/x` | `https://h/httpLogs/x` |
public enum PathJoin: Sendable, Hashable {
    /// The path is appended to the base's path, which it can never leave; the default.
    case append
    /// The path is resolved against the base as a link on that page would be (RFC 3986 section 5.2).
    case relative
}
