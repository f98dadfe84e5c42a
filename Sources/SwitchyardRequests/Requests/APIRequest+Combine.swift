#if canImport(Combine)
    public import Combine
    public import SwitchyardAPI

    extension APIRequest {
        /// The value as a publisher, which starts the request when somebody subscribes.
        ///
        /// It ends with the value or the error, on the request's queue; a subscriber that goes away is told nothing, and
        /// the request goes on for the others. Cancel the request itself to break it off.
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

    /// Hands one outcome to a subject.
    private final class Relay<Value: Sendable>: @unchecked Sendable {
        // @unchecked is sound: Combine's subjects may be sent to from any thread, and the reference never changes.
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
