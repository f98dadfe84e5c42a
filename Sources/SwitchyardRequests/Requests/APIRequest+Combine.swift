#if canImport(Combine)
    public import Combine
    public import SwitchyardAPI

    extension APIRequest {
        /// A publisher of the value, which starts the request when it is subscribed to.
        ///
        /// It completes with the value or the error, on the request's queue. If a subscriber cancels its subscription,
        /// it receives nothing more, and the request continues for the other subscribers. To cancel the transfer,
        /// cancel the request itself.
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

    /// An object that passes one outcome to a subject.
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
