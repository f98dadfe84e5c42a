#if canImport(Combine)
    public import Combine
    public import SwitchyardAPI

    extension APIRequest {
        /// A publisher of the value.
        ///
        /// The first subscription starts the request.
        ///
        /// The publisher completes with the value or the error, on the request's queue. A subscriber that cancels its
        /// subscription receives nothing more, but the request continues for the other subscribers. To stop the
        /// transfer, cancel the request itself.
        public var publisher: AnyPublisher<Value, APIError> {
            Deferred { [self] in
                let subject = Relay<Value>()
                onFinish { subject.send($0.map(\.value)) }
                resume()
                return subject.values
            }
            .eraseToAnyPublisher()
        }
    }

    /// Passes one outcome of a request to a Combine subject.
    private final class Relay<Value: Sendable>: @unchecked Sendable {
        // `@unchecked` is sound because Combine's subjects accept values from any thread and the reference never
        // changes.
        private let subject = CurrentValueSubject<Value?, APIError>(nil)

        var values: AnyPublisher<Value, APIError> {
            subject.compactMap { $0 }.first().eraseToAnyPublisher()
        }

        func send(_ outcome: Result<Value, APIError>) {
            switch outcome {
            case .success(let value): subject.send(value)
            case .failure(let error): subject.send(completion: .failure(error))
            }
        }
    }
#endif
