import SwitchyardServices

/// What is sent: that of a ``APIConfiguration/prebuiltRequest``, where there is one.
extension APIConfiguration {
    /// The method that is sent.
    var sentMethod: HTTPMethod { rare?.value.prebuiltRequest?.method ?? method }
}
